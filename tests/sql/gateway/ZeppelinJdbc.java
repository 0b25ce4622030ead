import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Properties;

/** Makes the calls of Zeppelin's JDBC interpreter and of its pool of connections: java ZeppelinJdbc.java URL. */
public class ZeppelinJdbc {
  interface Call {
    Object run() throws Exception;
  }

  static void call(String name, Call call) {
    try {
      System.out.println(name + ": " + call.run());
    } catch (Exception error) {
      System.out.println(name + " refused: " + error.getMessage());
    }
  }

  public static void main(String[] arguments) throws Exception {
    Class.forName("org.apache.flink.table.jdbc.FlinkDriver");
    try (Connection connection = DriverManager.getConnection(arguments[0], new Properties());
        Statement statement = connection.createStatement()) {
      call("isReadOnly", connection::isReadOnly);
      call("isValid", () -> connection.isValid(1));
      call("clearWarnings", () -> { connection.clearWarnings(); return "done"; });
      call("setFetchSize", () -> { statement.setFetchSize(1000); return "done"; });
      call("setMaxRows", () -> { statement.setMaxRows(1000); return "done"; });
      call("execute", () -> statement.execute("SELECT 1 AS x, 'a' AS y"));
      call("getUpdateCount", statement::getUpdateCount);
      ResultSet rows = statement.getResultSet();
      rows.next();
      call("getString", () -> rows.getString(2));
    }
  }
}
