import ast
import subprocess
import sys
from pathlib import Path

import kubectl_kres.cluster

HERE = Path(kubectl_kres.cluster.__file__).parent


def test_reading_does_not_load_the_kubernetes_package_until_a_connection_is_made():
    program = (
        "import sys; from kubectl_kres.cluster import connect, discovery, kubeconfig, read; "
        "found = {'kubernetes', 'requests', 'pydantic', 'click', 'textual'} & set(sys.modules); assert not found, found"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_connection_loads_neither_models_nor_typed_calls():
    program = """
import sys
from kubectl_kres.cluster.connect import connect
from kubectl_kres.cluster.kubeconfig import Target
connect(Target("http://127.0.0.1:1", "default")).close()
typed = ("kubernetes.client.models.", "kubernetes.client.api.", "kubernetes.aio")
assert "kubernetes.client.rest" in sys.modules
assert not [name for name in sys.modules if name.startswith(typed)]
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_one_module_knows_the_kubernetes_package_and_none_another_method_than_get():
    users = {
        path.name for path in HERE.glob("*.py") if any(name.split(".")[0] == "kubernetes" for name in imported(path))
    }
    assert users == {"connect.py"}
    for path in HERE.glob("*.py"):
        strings = {node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)}
        assert not strings & {"POST", "PUT", "PATCH", "DELETE"}, path
