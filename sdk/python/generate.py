"""Makes `routine_automation.generated` from the document for API keys: `python generate.py openapi.json`."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

#: A list of words may grow in a later release of the service, so an unknown word is a value too.
TEMPLATE = '''\
from enum import Enum


class {{ enum.class_info.name }}(str, Enum):
    {% for key, value in enum.values|dictsort(true) %}
    {{ key }} = "{{ value }}"
    {% endfor %}

    def __str__(self) -> str:
        return str(self.value)

    @classmethod
    def _missing_(cls, value: object) -> "{{ enum.class_info.name }} | None":
        if not isinstance(value, str):
            return None
        unknown = str.__new__(cls, value)
        unknown._name_ = value
        unknown._value_ = value
        return unknown
'''

PACKAGE = Path(__file__).parent / "src" / "routine_automation" / "generated"


def main(document: str) -> None:
    shutil.rmtree(PACKAGE, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.yaml"
        config.write_text("post_hooks: []\n")
        (Path(folder) / "str_enum.py.jinja").write_text(TEMPLATE)
        command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"]
        options = ["--path", document, "--output-path", str(PACKAGE), "--config", str(config)]
        options += ["--custom-template-path", folder]
        subprocess.run([*command, *options], check=True)


if __name__ == "__main__":
    main(sys.argv[1])
