import ast
import subprocess
import sys
from pathlib import Path

import kubectl_kres.cluster

HERE = Path(kubectl_kres.cluster.__file__).parent


def test_reading_does_not_load_the_kubernetes_package_until_a_connection_is_made():
    program = (
        "import sys; from kubectl_kres.cluster.connection import connect; "
        "from kubectl_kres.cluster.read import discovery; "
        "from kubectl_kres.cluster.kubeconfig import current_context as kubeconfig; "
        "from kubectl_kres.cluster.read import fill_store as read; "
        "found = {'kubernetes', 'requests', 'pydantic', 'click', 'textual'} & set(sys.modules); assert not found, found"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_connection_loads_nothing_that_is_not_needed():
    program = """
import sys
from kubectl_kres.cluster.connection import connect
from kubectl_kres.cluster.kubeconfig.current_context import Target
connect(Target("http://127.0.0.1:1", "default"), environ={}).close()
assert not [name for name in sys.modules if name.split(".")[0] in {"kubernetes", "requests", "socks", "aiohttp"}]
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_one_module_knows_another_method_than_get():
    for path in HERE.glob("*.py"):
        assert not any(name.split(".")[0] == "kubernetes" for name in imported(path))
        strings = {node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)}
        others = strings & {"POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
        assert others == ({"POST"} if path.name == "connection.py" else set()), path
