"""Rules of Tekton: the pods of a TaskRun or PipelineRun, the origin of each value, refusals.

Values in, values out. ``run`` has the questions; the other modules are the steps on the way, in the order of Tekton's.
"""
