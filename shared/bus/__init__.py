"""Kafka: topics, the consumers of the workers, request and reply. The home of faststream and aiokafka."""
