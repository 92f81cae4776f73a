"""Every option of the configuration, declared and documented once, and how it is checked."""
