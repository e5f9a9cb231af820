"""Settings of the embedded PostgreSQL, for a machine of about two cores and a few gigabytes."""

COMMON = {
    "max_connections": "200",
    "jit": "off",  # compilation would take longer than our queries
    "random_page_cost": "1.1",
    "effective_io_concurrency": "64",
    "work_mem": "8MB",
    "maintenance_work_mem": "128MB",
    "checkpoint_timeout": "15min",
    "max_wal_size": "1GB",
    "log_checkpoints": "off",
    "log_timezone": "UTC",
    "timezone": "UTC",
}

DURABLE = COMMON | {
    "shared_buffers": "256MB",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "wal_compression": "lz4",
}

THROWAWAY = COMMON | {
    "shared_buffers": "128MB",
    "fsync": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum": "off",  # it would process every database that a test has left
}
