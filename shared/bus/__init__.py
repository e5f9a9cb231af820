"""Kafka: topics, the consumers of the workers, request and reply. The only user of faststream and aiokafka."""
