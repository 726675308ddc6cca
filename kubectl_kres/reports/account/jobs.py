"""The Jobs that a CronJob keeps: those that its history limits let stay, and the one that runs.

Source: controller/cronjob cronjob_controllerv2.go cleanupFinishedJobs, syncCronJob.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_kres.admission.quota.requests import count_request
from kubectl_kres.admission.request.pod_objects import Creation
from kubectl_kres.model.workload import Workload
from kubectl_kres.reports.common.owned import owned_by
from kubectl_kres.reports.common.subject import Subject
from kubectl_kres.store.coverage import Need
from kubectl_kres.store.store import Store

#: What the server fills in. Source: apis/batch/v1 defaults.go SetDefaults_CronJob.
SUCCESSFUL, FAILED = 3, 1


def kept_jobs(cron_job: Workload) -> int:
    """How many Jobs there are at most once its history is full, one of them running."""
    spec = cron_job.spec
    successful = SUCCESSFUL if spec.successful_jobs_history_limit is None else spec.successful_jobs_history_limit
    failed = FAILED if spec.failed_jobs_history_limit is None else spec.failed_jobs_history_limit
    return successful + failed + 1


def lacking_jobs(store: Store, subject: Subject, cron_job: Workload) -> Iterator[Creation]:
    """The Jobs that it still comes to have; nothing of one that is suspended."""
    if cron_job.spec.suspend or cron_job.spec.job_template is None:
        return
    ref = subject.ref
    there = len(owned_by(store, "Job", ref.namespace, ("CronJob", ref.name)))
    known = store.covered(Need("Job", ref.namespace)).known or store.get("CronJob", ref.name, ref.namespace) is None
    # Which Jobs there are is not known: at least the next one comes.
    count = max(1, kept_jobs(cron_job) - there) if known else 1
    yield Creation("Job", ref.name, count_request("jobs.batch", ref.name), count=count)
