"""Prints the number of rows of every configuration of a release, read by Hugging Face's datasets without a network.

    python hugging_face.py RELEASE CACHE
"""

import json
import os
import sys

os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", HF_HOME=sys.argv[2])

from datasets import disable_progress_bars, get_dataset_config_names, load_dataset  # noqa: E402

disable_progress_bars()
folder = sys.argv[1]
rows = {name: load_dataset(folder, name, split="train").num_rows for name in get_dataset_config_names(folder)}
print(json.dumps(rows))
