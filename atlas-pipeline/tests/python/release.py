"""Loads and validates a release with the programs of the Hub, of Croissant and of SPDX; prints what they found as JSON."""

import json
import sys

import datasets
import mlcroissant
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

folder = sys.argv[1]
loaded = datasets.load_dataset(folder)
croissant = mlcroissant.Dataset(jsonld=f"{folder}/croissant.json")


def text(value):
    return value.decode() if isinstance(value, bytes) else value


issues = croissant.metadata.ctx.issues
document = parse_file(f"{folder}/metadata/provenance.spdx.json")
print(
    json.dumps(
        {
            "splits": {name: rows["instance_id"][:] for name, rows in sorted(loaded.items())},
            "croissant": {
                name: [text(row[f"{name}/instance_id"]) for row in croissant.records(name)] for name in sorted(loaded)
            },
            "croissant_issues": sorted(issues.errors) + sorted(issues.warnings),
            "spdx_issues": [message.validation_message for message in validate_full_spdx_document(document)],
            "spdx_packages": sorted(package.name for package in document.packages),
            "tags": loaded["python"]["tags"][:],
        }
    )
)
