"""What Tekton makes of a TaskRun or PipelineRun: the pods it submits, where each value comes from, what it refuses.

Values in, values out. ``run`` has the questions; the other modules are the steps on the way, in the order of Tekton's.
"""
