"""Tables, sessions and queries. The only user of SQLAlchemy: services ask for records, never for rows."""
