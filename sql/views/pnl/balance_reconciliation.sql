-- Do the balances that follow from the recorded trades and transactions equal those of the exchange?
--
-- Compares what an account must hold with a complete poll of its balances, per coin and outcome asset, including those that only
-- one of the two has. The poll is chosen as in position_reconciliation: the latest that ended before complete_to; without such a
-- poll among the last ten, the latest one. Only accounts whose balances were polled are included. What an account must hold:
--
--   outcome asset  shares of pnl_by_asset: bought - sold, a mint is a purchase and a merge a sale; 0 when its market is settled
--   USDC           deposits - withdrawals + cash_flow - fees; cash_flow = sales - purchases + payouts (pnl_by_asset), fees are
--                  those of trades and of transactions, taken as charged beside their amount
--   other coin     deposits - withdrawals - fees
--   free           balance - what open orders lock: of an outcome asset the remaining shares of SELL orders. It is known if the polls
--                  of active orders before and after the one of the balances list the same orders with the same quantities, and all
--                  of them are in the order history. A BUY order locks an amount that includes a fee, whose rate the exchange does not send:
--                  while there is such an order, the free USDC is unknown
--
-- USDC is the coin with this ticker in the list of coins. The first deposit of an account is a transaction like any other: nothing is taken as
-- an opening balance. Transactions that failed do not count, and those that are neither completed nor failed do not count yet.
--
-- `state` is the reason of a difference:
--   equal            there is none
--   newer            a trade, settlement or transaction is not older than the poll, so the poll may not include it
--   unread           the poll ended after complete_to, so trades or transactions up to then may not have been read; or the list of coins
--                    was not read
--   no transactions  of a coin, when the transactions of the account cannot be read (they need a JWT): its balance is unknown, NULL
--   pending          of a coin with a transaction that is neither completed nor failed
--   unexplained      none of these
CREATE OR REPLACE VIEW {database}.balance_reconciliation
(
    `account` String COMMENT 'Configured name of the account',
    `event` String COMMENT 'Event ID; empty of a coin, or when unknown',
    `market` String COMMENT 'Market ID; empty of a coin, or when unknown',
    `asset` String COMMENT 'Asset ID: a coin, or an outcome asset',
    `outcome` String COMMENT 'YES or NO; empty of a coin, or when unknown',
    `ticker` String COMMENT 'Ticker of a coin, such as USDC; empty of an outcome asset',
    `state` String COMMENT 'equal, newer, unread, no transactions, pending or unexplained',
    `balance` Nullable(Decimal(38, 12)) COMMENT 'Total including what orders lock, by our own records: USDC or shares; NULL of a coin when transactions cannot be read',
    `exchange_balance` Decimal(38, 12) COMMENT 'Total including what orders lock, by the exchange: USDC or shares; 0 when it is not listed',
    `difference` Nullable(Decimal(38, 12)) COMMENT 'balance - exchange_balance, USDC or shares',
    `free` Nullable(Decimal(38, 12)) COMMENT 'Amount not locked by orders, by our own records: USDC or shares; NULL when it is not exactly known',
    `exchange_free` Nullable(Decimal(38, 12)) COMMENT 'Amount not locked by orders, by the exchange: USDC or shares; NULL when absent',
    `free_difference` Nullable(Decimal(38, 12)) COMMENT 'free - exchange_free, USDC or shares',
    `deposits` Decimal(38, 12) COMMENT 'Deposits of the coin, USDC or units of another coin',
    `withdrawals` Decimal(38, 12) COMMENT 'Withdrawals of the coin, USDC or units of another coin',
    `cash_flow` Decimal(38, 12) COMMENT 'Of USDC: sales - purchases + payouts of all assets, without fees; else 0',
    `fees` Decimal(38, 12) COMMENT 'Of USDC: fees of trades and of its transactions; of another coin: fees of its transactions; else 0',
    `changed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of the last trade, settlement or transaction that changed the balance, by the exchange',
    `polled_at` DateTime64(6, 'UTC') COMMENT 'When the poll of the balances was started, by our clock',
    `complete_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Every trade and transaction of the account up to this time is included, by our clock (account_completeness)'
)
AS
WITH
    toDecimal128(0, 12) AS nothing,
    -- As in pnl_by_asset, so that ClickHouse computes it once.
    (SELECT groupArray((account, complete_to)) FROM {database}.account_completeness) AS completeness,
    (SELECT groupUniqArray(toString(account_lists.account)) FROM {database}.account_lists WHERE operation = 'transactions') AS with_transactions,
    (SELECT groupArray((coin, ifNull(ticker, ''))) FROM {database}.coins) AS listed_coins,
    arrayFirst(one -> one.2 = 'USDC', ifNull(listed_coins, [])).1 AS usdc,
    (SELECT groupArray((list, account, poll_id, started_at, finished_at)) FROM {database}.recent_account_polls WHERE list IN ('balances', 'active-orders')) AS recent,
    (
        SELECT groupArray((account, poll_id, started_at, is_read, complete_to, poll_before, poll_after))
        FROM
        (
            SELECT
                account, poll_id, started_at, is_read, complete_to,
                arrayReverseSort(poll -> poll.5, arrayFilter(poll -> poll.1 = 'active-orders' AND poll.2 = account AND poll.5 <= started_at, recent))[1].3 AS poll_before,
                arraySort(poll -> poll.4, arrayFilter(poll -> poll.1 = 'active-orders' AND poll.2 = account AND poll.4 >= finished_at, recent))[1].3 AS poll_after
            FROM
            (
                SELECT
                    one.2 AS account, one.3 AS poll_id, one.4 AS started_at, one.5 AS finished_at,
                    arrayFirst(known -> known.1 = account, completeness).2 AS complete_to,
                    ifNull(finished_at <= complete_to, false) AS is_read
                FROM (SELECT arrayJoin(recent) AS one)
                WHERE one.1 = 'balances'
                ORDER BY is_read DESC, finished_at DESC, poll_id
                LIMIT 1 BY account
            )
        )
    ) AS chosen,
    polls AS
    (
        SELECT
            one.1 AS account, one.3 AS polled_at, one.4 AS is_read, one.5 AS complete_to,
            has(with_transactions, account) AS reads_transactions,
            one.6 != '' AND one.7 != '' AND ifNull(are_known, true) AS knows_locks,
            buys,
            sales
        FROM (SELECT arrayJoin(chosen) AS one) AS polled
        LEFT JOIN
        (
            SELECT
                account,
                toNullable(countIf(listings != 2 OR lowest != highest OR (side = 'SELL' AND asset = '')) = 0) AS are_known,
                countIf(side != 'SELL') AS buys,
                groupArrayIf((asset, lowest), side = 'SELL') AS sales
            FROM
            (
                SELECT account, order_id, any(side) AS side, uniqExact(poll_id) AS listings, min(quantity) AS lowest, max(quantity) AS highest
                FROM {database}.active_order_observations
                WHERE (account, poll_id) GLOBAL IN (SELECT one.1, arrayJoin([one.6, one.7]) FROM (SELECT arrayJoin(chosen) AS one))
                GROUP BY account, order_id
            ) AS listed
            LEFT JOIN (SELECT account, order_id, asset FROM {database}.orders) AS history USING (account, order_id)
            GROUP BY account
        ) AS locks ON locks.account = polled.one.1
    )
SELECT
    account,
    event,
    market,
    asset,
    outcome,
    ticker,
    multiIf(
        is_coin AND NOT reads_transactions, 'no transactions',
        difference = 0, 'equal',
        ifNull(last_change_at >= polled_at, false), 'newer',
        NOT is_read OR usdc = '', 'unread',
        pending > 0, 'pending',
        'unexplained'
    ) AS state,
    balance,
    exchange_balance,
    balance - exchange_balance AS difference,
    multiIf(
        NOT knows_locks, NULL,
        NOT is_coin, balance - arraySum(sale -> if(sale.1 = asset, sale.2, nothing), sales),
        buys > 0, NULL,
        balance
    ) AS free,
    their_free AS exchange_free,
    free - exchange_free AS free_difference,
    deposits,
    withdrawals,
    cash_flow,
    fees,
    last_change_at AS changed_at,
    polled_at,
    complete_to
FROM
(
    SELECT
        *,
        arrayFirst(one -> one.1 = asset, listed_coins).2 AS ticker,
        arrayExists(one -> one.1 = asset, listed_coins) AS is_coin,
        if(is_coin, if(reads_transactions, deposits - withdrawals + cash_flow - fees, NULL), shares) AS balance
    FROM
    (
        -- Not a FULL JOIN, through which ClickHouse does not push a filter by account.
        SELECT
            account,
            asset,
            max(sides.event) AS event,
            max(sides.market) AS market,
            max(sides.outcome) AS outcome,
            sum(sides.shares) AS shares,
            sum(sides.deposited) AS deposits,
            sum(sides.withdrawn) AS withdrawals,
            sum(sides.flow) AS cash_flow,
            sum(sides.paid_fees) AS fees,
            sum(sides.is_pending) AS pending,
            max(sides.change_at) AS last_change_at,
            sum(sides.their_balance) AS exchange_balance,
            max(sides.exchange_free) AS their_free
        FROM
        (
            -- Each trade and settlement changes the shares of its asset and USDC.
            SELECT
                account, one.1 AS asset, one.2 AS event, one.3 AS market, one.4 AS outcome, one.5 AS shares,
                nothing AS deposited, nothing AS withdrawn, one.6 AS flow, one.7 AS paid_fees, 0 AS is_pending, change_at, nothing AS their_balance, NULL AS exchange_free
            FROM
            (
                SELECT
                    account,
                    nullIf(greatest(ifNull(last_trade_at, toDateTime64(0, 6, 'UTC')), ifNull(settled_at, toDateTime64(0, 6, 'UTC'))), toDateTime64(0, 6, 'UTC')) AS change_at,
                    arrayJoin([(asset, event, market, outcome, shares, nothing, nothing), (usdc, '', '', '', nothing, cash_flow, fees)]) AS one
                FROM {database}.pnl_by_asset
            )
            UNION ALL
            SELECT
                account, if(asset = '', usdc, asset) AS asset, '' AS event, '' AS market, '' AS outcome, nothing AS shares,
                if(is_done AND type = 'DEPOSIT', amount, nothing) AS deposited, if(is_done AND type = 'WITHDRAWAL', amount, nothing) AS withdrawn,
                nothing AS flow, if(is_done, ifNull(fee, nothing), nothing) AS paid_fees, toUInt8(NOT is_done) AS is_pending, created_at AS change_at, nothing AS their_balance, NULL AS exchange_free
            FROM (SELECT *, status IN ('COMPLETED', '') AS is_done FROM {database}.transactions)
            WHERE type IN ('DEPOSIT', 'WITHDRAWAL') AND status NOT IN ('FAILED', 'CANCELLED', 'CANCELED', 'REJECTED')
            UNION ALL
            SELECT
                account, asset, '' AS event, '' AS market, '' AS outcome, nothing AS shares,
                nothing AS deposited, nothing AS withdrawn, nothing AS flow, nothing AS paid_fees, 0 AS is_pending, NULL AS change_at, balance AS their_balance, free AS exchange_free
            FROM
            (
                SELECT toString(balance_observations.account) AS account, toString(balance_observations.asset) AS asset, balance, free
                FROM {database}.balance_observations
                WHERE (account, poll_id) GLOBAL IN (SELECT one.1, one.2 FROM (SELECT arrayJoin(chosen) AS one))
                ORDER BY received_at DESC, `_offset` DESC, `_index` DESC
                LIMIT 1 BY account, asset
            )
        ) AS sides
        GROUP BY account, asset
    ) AS summed
    INNER JOIN polls USING (account)
)
WHERE asset != '' AND (is_coin OR shares != 0 OR exchange_balance != 0 OR ifNull(last_change_at >= polled_at, false));
