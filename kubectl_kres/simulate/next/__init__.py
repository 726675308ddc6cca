"""What would come next in a namespace at rest: the next pod, the next rollout, the maximum of an autoscaler.

The steps of a change and what controllers do by themselves belong beside this folder.
"""
