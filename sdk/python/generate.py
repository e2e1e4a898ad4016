"""Makes `routine_automation.generated` from the document for API keys: `python generate.py openapi.json`."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = Path(__file__).parent / "src" / "routine_automation" / "generated"


def main(document: str) -> None:
    shutil.rmtree(PACKAGE, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.yaml"
        config.write_text("post_hooks: []\n")
        command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"]
        options = ["--path", document, "--output-path", str(PACKAGE), "--config", str(config)]
        subprocess.run([*command, *options], check=True)


if __name__ == "__main__":
    main(sys.argv[1])
