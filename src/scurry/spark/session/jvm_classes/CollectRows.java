import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.util.Arrays;
import org.apache.spark.api.python.PythonRDD;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.execution.LogicalRDD;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction2;

/**
 * Collects the rows of a micro-batch: a Spark job over the frame's RDD, neither planned again nor cleaned as a closure.
 */
public class CollectRows extends AbstractFunction2 implements Serializable {
    /** Return the socket that serves the rows, those of each partition as `apply` writes them. */
    public static Object[] collect(Dataset frame) {
        RDD rows = ((LogicalRDD) frame.queryExecution().logical()).rdd();
        ClassTag tag = ClassTag$.MODULE$.apply(byte[].class);
        Object[] parts = (Object[]) rows.context().runJob(rows, new CollectRows(), tag);
        return PythonRDD.serveIterator(CollectionConverters.asScala(Arrays.asList(parts).iterator()), "serve rows");
    }

    /** Return the rows of a partition: four integers, a long and a length of each, then its block. */
    public Object apply(Object context, Object rows) {
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(written);
        try {
            for (Iterator all = (Iterator) rows; all.hasNext(); ) {
                InternalRow row = (InternalRow) all.next();
                for (int i = 0; i < 4; i++) {
                    out.writeInt(row.getInt(i));
                }
                out.writeLong(row.getLong(4));
                byte[] block = row.getBinary(5);
                out.writeInt(block.length);
                out.write(block);
            }
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
        return written.toByteArray();
    }
}
