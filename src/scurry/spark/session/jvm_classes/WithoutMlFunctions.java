import java.io.IOException;
import java.net.URL;
import java.util.Enumeration;
import java.util.Vector;

/** Loads what the thread's class loader does, but hides the extension of sessions that is in the jar of Spark ML. */
public class WithoutMlFunctions extends ClassLoader {
    private static final String EXTENSIONS = "META-INF/services/org.apache.spark.sql.SparkSessionExtensionsProvider";

    public WithoutMlFunctions() {
        super(Thread.currentThread().getContextClassLoader());
    }

    public Enumeration getResources(String name) throws IOException {
        Enumeration found = super.getResources(name);
        if (!name.equals(EXTENSIONS)) {
            return found;
        }
        Vector kept = new Vector();
        while (found.hasMoreElements()) {
            URL each = (URL) found.nextElement();
            if (each.toString().indexOf("/spark-mllib_") < 0) {
                kept.add(each);
            }
        }
        return kept.elements();
    }
}
