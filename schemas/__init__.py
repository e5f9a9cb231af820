"""The wire: contracts between SmartBrain, its users and its own services. Pure data, no I/O."""
