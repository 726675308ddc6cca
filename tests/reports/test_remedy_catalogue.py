"""Every rule that refuses has a remedy, or a sentence that says what to do where no edit can be computed."""

from __future__ import annotations

from kubectl_kres.capsule.reports.rule_remedies import RULE_REMEDIES
from kubectl_kres.policies.reports.remedy import POLICING_REMEDIES
from kubectl_kres.provenance.rules import RULES
from kubectl_kres.reports.common.system import systems
from kubectl_kres.reports.remedies.pod_remedy import REMEDIES
from kubectl_kres.reports.remedies.pods import OF_VALUES
from kubectl_kres.reports.resize import REMEDIES as OF_RESIZES
from kubectl_kres.tekton.reports.remedy import TEKTON_REMEDIES, WHOLE

OF_SYSTEMS = {*TEKTON_REMEDIES, *WHOLE, *(rule for system in systems() for rule in system.sentences)}
WITH_REMEDY = {*OF_VALUES, *REMEDIES, *OF_RESIZES, *OF_SYSTEMS}
WITH_SENTENCE = {code for code, rule in RULES.items() if rule.by_hand}
WITHOUT_REFUSAL = {code for code, rule in RULES.items() if not rule.refuses}


def test_every_rule_that_refuses_has_a_remedy_or_says_why_there_is_none():
    assert set(RULES) - WITH_REMEDY - WITH_SENTENCE - WITHOUT_REFUSAL == set()


def test_no_rule_is_told_twice():
    # Tekton looks first whether it divided what comes in whole pieces.
    assert not WITH_SENTENCE & WITH_REMEDY - set(WHOLE)
    assert not WITHOUT_REFUSAL & WITH_REMEDY
    assert not WITH_SENTENCE & WITHOUT_REFUSAL


def test_sentences_that_are_loaded_late_exist():
    assert {rule for system in systems() for rule in system.sentences} == {*RULE_REMEDIES, *POLICING_REMEDIES}
