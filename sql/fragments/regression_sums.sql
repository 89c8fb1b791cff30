-- The sums of a logistic regression at the estimate that gives these probabilities: those of the score and of the information matrix.
(
    arraySum((p, y, w) -> w * (y - p), probabilities, results, weights),
    arraySum((p, y, w, x) -> w * (y - p) * x, probabilities, results, weights, logits),
    arraySum((p, w) -> w * p * (1 - p), probabilities, weights),
    arraySum((p, w, x) -> w * p * (1 - p) * x, probabilities, weights, logits),
    arraySum((p, w, x) -> w * p * (1 - p) * x * x, probabilities, weights, logits)
)
