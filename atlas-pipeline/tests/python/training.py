"""Reads an export of trajectories with the programs that train on it; prints what they saw, as JSON.

    training.py FOLDER...

datasets must be there; the template is left out where transformers is not.
"""

import json
import pathlib
import sys

from datasets import load_dataset

TEMPLATE = """{%- if tools %}<|im_start|>system
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}<|im_end|>
{% endif %}
{%- for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}
{%- for call in message.tool_calls or [] %}
<tool_call>{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments }}}</tool_call>
{%- endfor %}<|im_end|>
{% endfor %}"""


def tokenizer():
    """One of words, with a template: the export is tested, not the words."""
    try:
        from tokenizers import Tokenizer, models, pre_tokenizers
        from transformers import PreTrainedTokenizerFast
    except ImportError:
        return None
    words = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    made = PreTrainedTokenizerFast(tokenizer_object=words)
    made.chat_template = TEMPLATE
    return made


def look(folder, template):
    files = {path.stem: str(path) for path in sorted(folder.glob("t*.jsonl"))}
    found = load_dataset("json", data_files=files)
    seen = {"rows": {name: rows.num_rows for name, rows in found.items()}, "columns": found["train"].column_names}
    first = found["train"][0]
    if "messages" in first:
        seen["train"] = [message["train"] for message in first["messages"]]
        tools = json.loads(first["tools"]) if "tools" in first else None
        for message in first["messages"]:
            for call in message.get("tool_calls") or []:
                call["function"]["arguments"] = json.dumps(json.loads(call["function"]["arguments"]))
        if template is not None:
            seen["text"] = template.apply_chat_template(first["messages"], tools=tools, tokenize=False)
    return seen


template = tokenizer()
print(json.dumps([look(pathlib.Path(folder), template) for folder in sys.argv[1:]]))
