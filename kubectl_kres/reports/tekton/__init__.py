"""What is reported of Tekton: runs, Tasks and Pipelines, and what their pods meet."""
