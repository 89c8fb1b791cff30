            -- x is cost × leaving ÷ held; intDiv(2·cost·leaving + held, 2·held) is x rounded half up, and one too much where
            -- x lies in the middle and that is odd: there the remainder of 4·held is 2·held.
            (known, leaving, held, added, is_end) -> (
                known.1 + added
                - intDiv(2 * (known.1 + added) * leaving + held, 2 * held)
                + ((2 * (known.1 + added) * leaving + held) % (4 * held) = 2 * held) AS cost,
                if(is_end, arrayPushBack(known.2, cost), known.2)
            ),
