import java.io.File;
import java.nio.file.Files;
import java.util.Iterator;
import java.util.Map;
import org.codehaus.janino.SimpleCompiler;

/** Compiles SOURCE to class files in DIRECTORY with Janino, which is among Spark's jars: there may be no javac. */
public class Compile {
    public static void main(String[] arguments) throws Exception {
        SimpleCompiler compiler = new SimpleCompiler();
        compiler.cookFile(new File(arguments[0]));
        for (Iterator i = compiler.getBytecodes().entrySet().iterator(); i.hasNext(); ) {
            Map.Entry compiled = (Map.Entry) i.next();
            File file = new File(arguments[1], compiled.getKey() + ".class");
            Files.write(file.toPath(), (byte[]) compiled.getValue());
        }
    }
}
