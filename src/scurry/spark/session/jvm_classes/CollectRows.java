import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import net.jpountz.lz4.LZ4BlockInputStream;
import net.jpountz.lz4.LZ4BlockOutputStream;
import org.apache.spark.api.python.PythonRDD;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.execution.LogicalRDD;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction2;

/**
 * Collects the rows of a micro-batch: a Spark job over the frame's RDD, neither planned again nor cleaned as a closure.
 *
 * Rows travel in chunks: of each row four integers, a long and the length of its block, then the block. As Spark does,
 * tasks compress them: a micro-batch may have hundreds of megabytes.
 */
public class CollectRows extends AbstractFunction2 implements Serializable {
    private static final int CHUNK_BYTES = 1 << 20;

    /** Return the socket that serves the chunks. */
    public static Object[] collect(Dataset frame) {
        LogicalPlan plan = frame.queryExecution().logical();
        RDD rows = plan instanceof LogicalRDD ? ((LogicalRDD) plan).rdd() : frame.queryExecution().toRdd();
        ClassTag tag = ClassTag$.MODULE$.apply(List.class);
        Object[] parts = (Object[]) rows.context().runJob(rows, new CollectRows(), tag);
        List chunks = new ArrayList();
        for (int i = 0; i < parts.length; i++) {
            chunks.addAll((List) parts[i]);
        }
        return PythonRDD.serveIterator(CollectionConverters.asScala(new Chunks(chunks)), "serve rows");
    }

    /** Return the compressed chunks of a partition. */
    public Object apply(Object context, Object rows) {
        List chunks = new ArrayList();
        try {
            scala.collection.Iterator all = (scala.collection.Iterator) rows;
            while (all.hasNext()) {
                chunks.add(chunk(all));
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return chunks;
    }

    private static byte[] chunk(scala.collection.Iterator rows) throws IOException {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(new LZ4BlockOutputStream(compressed));
        while (rows.hasNext() && out.size() < CHUNK_BYTES) {
            InternalRow row = (InternalRow) rows.next();
            for (int i = 0; i < 4; i++) {
                out.writeInt(row.getInt(i));
            }
            out.writeLong(row.getLong(4));
            byte[] block = row.getBinary(5);
            out.writeInt(block.length);
            out.write(block);
        }
        out.close();
        return compressed.toByteArray();
    }

    /** Decompresses one chunk after another. */
    public static class Chunks implements Iterator {
        private final Iterator compressed;

        public Chunks(List compressed) {
            this.compressed = compressed.iterator();
        }

        public boolean hasNext() {
            return compressed.hasNext();
        }

        public Object next() {
            try {
                byte[] chunk = (byte[]) compressed.next();
                return new LZ4BlockInputStream(new ByteArrayInputStream(chunk)).readAllBytes();
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }
    }
}
