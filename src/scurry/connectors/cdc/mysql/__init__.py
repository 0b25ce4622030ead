"""Changes of MySQL and MariaDB, by the binlog in rows."""
