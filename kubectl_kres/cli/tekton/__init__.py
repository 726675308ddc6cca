"""How PipelineRuns and Pipelines are explained. No command of Kubernetes imports it: it is registered."""
