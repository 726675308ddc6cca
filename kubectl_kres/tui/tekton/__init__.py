"""Lists and screens of TaskRuns and PipelineRuns. No other screen imports them: they are registered."""
