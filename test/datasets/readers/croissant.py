"""Prints the name of datasets, the number of rows that mlcroissant loads of a record set, and the errors of the description; or why it loads none.

    python croissant.py RECORD_SET FILE...
"""

import sys

import mlcroissant

for file in sys.argv[2:]:
    dataset = mlcroissant.Dataset(jsonld=file)
    name = dataset.metadata.name
    try:
        print(name, sum(1 for _ in dataset.records(sys.argv[1])), list(dataset.metadata.ctx.issues.errors))
    except mlcroissant.GenerationError as error:
        print(name, str(error.__cause__).partition(" /")[0])
