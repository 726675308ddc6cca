"""What validation finds in Jobs and CronJobs beside their pods: counts, selectors, policies, schedules."""
