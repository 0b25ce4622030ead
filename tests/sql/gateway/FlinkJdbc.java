import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.Statement;

/** Runs queries through Flink's JDBC driver: java FlinkJdbc.java URL CSV. */
public class FlinkJdbc {
  public static void main(String[] arguments) throws Exception {
    Class.forName("org.apache.flink.table.jdbc.FlinkDriver");
    try (Connection connection = DriverManager.getConnection(arguments[0]);
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE t (id INT, name STRING, amount DOUBLE) WITH "
          + "('connector' = 'filesystem', 'path' = '" + arguments[1] + "', 'format' = 'csv')");
      String query = "SELECT id, name, amount, CAST(amount AS DECIMAL(10, 2)) AS d, DATE '2024-01-02' AS dd, "
          + "TIMESTAMP '2024-01-02 03:04:05.123' AS ts, id > 1 AS big, CAST(NULL AS STRING) AS nothing, "
          + "CAST(id AS BIGINT) AS l, X'0aff' AS b, MAP['k', id] AS m FROM t";
      try (ResultSet rows = statement.executeQuery(query)) {
        ResultSetMetaData columns = rows.getMetaData();
        for (int i = 1; i <= columns.getColumnCount(); i++) {
          System.out.println(columns.getColumnName(i) + " " + columns.getColumnTypeName(i));
        }
        while (rows.next()) {
          System.out.println(rows.getInt(1) + "|" + rows.getString("name") + "|" + rows.getDouble(3) + "|"
              + rows.getBigDecimal(4) + "|" + rows.getDate(5) + "|" + rows.getTimestamp(6) + "|" + rows.getBoolean(7)
              + "|" + rows.getString(8) + "|" + rows.getLong(9) + "|" + rows.getBytes(10).length + "|"
              + rows.getObject(11));
        }
      }
      statement.execute("SHOW TABLES");
      try (ResultSet rows = statement.getResultSet()) {
        while (rows.next()) {
          System.out.println("table " + rows.getString(1));
        }
      }
      try (ResultSet rows = connection.getMetaData().getCatalogs()) {
        while (rows.next()) {
          System.out.println("catalog " + rows.getString(1));
        }
      }
      try {
        statement.executeQuery("SELECT nope FROM t");
      } catch (Exception error) {
        Throwable cause = error;
        while (cause.getCause() != null) {
          cause = cause.getCause();
        }
        System.out.println("refused " + cause.getMessage().contains("Column 'nope' not found in any table"));
      }
    }
  }
}
