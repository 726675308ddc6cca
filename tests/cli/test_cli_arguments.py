"""The words that name objects: every form that kubectl takes, and its sentences for those that it does not."""

from __future__ import annotations

import pytest
from cli.apiserver import pod
from cli.running import Kres

from kubectl_kres.cli.args.arguments import NamedObjects, parse_named_objects
from kubectl_kres.errors import UsageError

NO_NEED = (
    "there is no need to specify a resource type as a separate argument when passing arguments in resource/name form "
    "(e.g. 'kubectl kres explain resource/<resource_name>' instead of "
    "'kubectl kres explain resource resource/<resource_name>')"
)
SINGLE = "arguments in resource/name form must have a single resource and name"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("pods", [NamedObjects("pods")]),
        ("pods,deploy", [NamedObjects("pods"), NamedObjects("deploy")]),
        ("pods,pods", [NamedObjects("pods")]),
        ("pod web", [NamedObjects("pod", ("web",))]),
        ("pod web db", [NamedObjects("pod", ("web", "db"))]),
        ("pod,deploy web", [NamedObjects("pod", ("web",)), NamedObjects("deploy", ("web",))]),
        ("pod/web", [NamedObjects("pod", ("web",))]),
        ("pod/web deploy/db", [NamedObjects("pod", ("web",)), NamedObjects("deploy", ("db",))]),
        ("deployments.v1.apps/web", [NamedObjects("deployments.v1.apps", ("web",))]),
    ],
)
def test_forms(words: str, found: list[NamedObjects]):
    assert list(parse_named_objects(words.split())) == found


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("pods/a pods", NO_NEED),
        ("pods pods/a", NO_NEED),
        ("pods a b/ c", NO_NEED),
        ("pods/", SINGLE),
        ("/a", SINGLE),
        ("/", SINGLE),
        ("pods/a b/", SINGLE),
        ("pods,svc/a", SINGLE),
        ("a/b/c", "arguments in resource/name form may not have more than one slash"),
        ("pods/a/", "arguments in resource/name form may not have more than one slash"),
    ],
)
def test_forms_that_are_none(words: str, message: str):
    with pytest.raises(UsageError) as caught:
        parse_named_objects(words.split())
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("explain", "You must provide one or more resources by argument or filename."),
        ("diff", "You must provide one or more resources by argument or filename."),
        ("diff pod/a b", NO_NEED.replace("explain", "diff")),
        ("explain pods -c app", "resource(s) were provided, but no name was specified"),
        ("explain pods --for limits.cpu", "resource(s) were provided, but no name was specified"),
        ("explain pod web -l a=b", "name cannot be provided when a selector is specified"),
        ("explain pod web --field-selector a=b", "name cannot be provided when a selector is specified"),
        (
            "explain pod/web -l a=b",
            "selectors and the all flag cannot be used when passing resource/name arguments",
        ),
        ("explain pod/web -A", "a resource cannot be retrieved by name across all namespaces"),
        (
            "explain priorityclasses",
            "priorityclasses.scheduling.k8s.io hold no pod template (spec.template.spec.containers)",
        ),
        ("diff svc/web", "services make no pods"),
    ],
)
def test_sentences_of_a_command(kres: Kres, api, text: str, message: str):
    code, out, err = kres(text)
    assert (code, out, err.splitlines()[0]) == (2, "", f"error: {message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "explain pods",
            "when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well",
        ),
        (
            "explain pods a",
            "when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well",
        ),
        (
            "qos pods a",
            "when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well",
        ),
        ("diff --field-selector a=b", "--field-selector does not go with -f"),
        ("diff -n a -n b", "-f takes one namespace, not several"),
    ],
)
def test_words_beside_files(kres: Kres, file, text: str, message: str):
    assert kres(f"{text} --offline -f {file(pod('web'))}") == (2, "", f"error: {message}\n")


@pytest.mark.parametrize("command", ["explain", "diff", "qos"])
def test_an_object_beside_files_is_one_that_is_there(kres: Kres, file, command: str):
    """It is asked about as the files change it, which needs the cluster that has it."""
    text = "a Pod of a file does not exist yet, and --offline reads nothing else"
    assert kres(f"{command} pods/a --offline -f {file(pod('web'))}") == (3, "", f"error: {text}\n")


def test_an_empty_name(kres: Kres, api):
    assert kres("explain pods", "") == (2, "", "error: resource name may not be empty\n")


def test_types_by_any_name(kres: Kres, api):
    api.objects.append(pod("web"))
    found = {kres(f"explain {word} web").out for word in ("pod", "po", "PODS", "pods.", "pods.v1.")}
    assert len(found) == 1 and "" not in found


@pytest.mark.parametrize("text", ["explain zz", "explain zz/a", "diff zz a"])
def test_unknown_types(kres: Kres, api, text: str):
    assert kres(text) == (3, "", 'error: the server doesn\'t have a resource type "zz"\n')
