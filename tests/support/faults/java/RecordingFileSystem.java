import java.io.File;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/** Hadoop's local file system, which records what a directory holds before and after every call that changes it. */
public class RecordingFileSystem extends LocalFileSystem {
    public RecordingFileSystem() {
        super(new Raw());
    }

    /** The images of a directory: a list of its files, by the digests of their contents, for each. */
    public static class Images {
        private static File root;
        private static File target;
        private static String last;
        private static final Set known = new HashSet();
        private static int count;

        /** Records from now on, until a path with this ending exists. */
        public static synchronized void begin(String directory, String images, String ending) {
            root = new File(directory);
            target = new File(images);
            last = ending;
            known.clear();
            count = 0;
            new File(target, "contents").mkdirs();
        }

        public static synchronized void end() {
            root = null;
        }

        public static synchronized boolean covers(String path) {
            return root != null && (path + "/").startsWith(root + "/");
        }

        /** Records what the directory holds now, unless it has held just that before. */
        public static synchronized void take(String what) throws IOException {
            if (root == null) {
                return;
            }
            StringBuilder image = new StringBuilder();
            while (true) {
                try {
                    list(root, "", image);
                    break;
                } catch (NoSuchFileException changed) { // by a worker: nothing waits for this process
                    image.setLength(0);
                }
            }
            byte[] content = image.toString().getBytes(StandardCharsets.UTF_8);
            if (known.add(digest(content))) {
                String name = Integer.toString(100000 + count++);
                Files.write(new File(target, name).toPath(), ("# " + what + "\n" + image).getBytes("UTF-8"));
            }
            if (image.indexOf(last + "\t") >= 0) {
                root = null;
            }
        }

        private static void list(File directory, String prefix, StringBuilder image) throws IOException {
            String[] names = directory.list();
            if (names == null) {
                throw new NoSuchFileException(directory.toString());
            }
            Arrays.sort(names);
            for (int i = 0; i < names.length; i++) {
                File file = new File(directory, names[i]);
                String path = prefix + names[i];
                if (file.isDirectory()) {
                    image.append(path).append("/\t\n");
                    list(file, path + "/", image);
                } else {
                    byte[] content = Files.readAllBytes(file.toPath());
                    String digest = digest(content);
                    Path kept = new File(target, "contents/" + digest).toPath();
                    if (!Files.exists(kept)) {
                        Files.write(kept, content);
                    }
                    image.append(path).append("\t").append(digest).append("\n");
                }
            }
        }

        private static String digest(byte[] content) throws IOException {
            try {
                byte[] digest = MessageDigest.getInstance("SHA-1").digest(content);
                StringBuilder text = new StringBuilder();
                for (int i = 0; i < digest.length; i++) {
                    text.append(Integer.toHexString(256 + (digest[i] & 255)).substring(1));
                }
                return text.toString();
            } catch (java.security.NoSuchAlgorithmException impossible) {
                throw new IOException(impossible);
            }
        }
    }

    /** What makes system calls: each of them happens while nobody records, and between two images. */
    public static class Raw extends RawLocalFileSystem {
        private boolean covers(org.apache.hadoop.fs.Path path) {
            return Images.covers(path.toUri().getPath());
        }

        protected OutputStream createOutputStreamWithMode(
                org.apache.hadoop.fs.Path path, boolean append, FsPermission permission) throws IOException {
            if (!covers(path)) {
                return super.createOutputStreamWithMode(path, append, permission);
            }
            synchronized (Images.class) {
                Images.take("create " + path);
                OutputStream stream = super.createOutputStreamWithMode(path, append, permission);
                Images.take("created " + path);
                return new Recording(stream, path.toString());
            }
        }

        public boolean rename(org.apache.hadoop.fs.Path source, org.apache.hadoop.fs.Path target) throws IOException {
            if (!covers(target)) {
                return super.rename(source, target);
            }
            synchronized (Images.class) {
                Images.take("rename " + source + " to " + target);
                boolean done = super.rename(source, target);
                Images.take("renamed " + source + " to " + target);
                return done;
            }
        }

        public boolean delete(org.apache.hadoop.fs.Path path, boolean recursive) throws IOException {
            if (!covers(path)) {
                return super.delete(path, recursive);
            }
            synchronized (Images.class) {
                String[] names = new File(path.toUri().getPath()).list();
                for (int i = 0; recursive && names != null && i < names.length; i++) {
                    delete(new org.apache.hadoop.fs.Path(path, names[i]), true);
                }
                Images.take("delete " + path);
                boolean done = super.delete(path, recursive);
                Images.take("deleted " + path);
                return done;
            }
        }

        protected boolean mkOneDirWithMode(
                org.apache.hadoop.fs.Path path, File directory, FsPermission permission) throws IOException {
            if (!covers(path)) {
                return super.mkOneDirWithMode(path, directory, permission);
            }
            synchronized (Images.class) {
                Images.take("mkdir " + path);
                boolean done = super.mkOneDirWithMode(path, directory, permission);
                Images.take("made directory " + path);
                return done;
            }
        }
    }

    /** A file that is being written. */
    public static class Recording extends FilterOutputStream {
        private final String path;

        public Recording(OutputStream stream, String path) {
            super(stream);
            this.path = path;
        }

        public void write(byte[] content, int offset, int length) throws IOException {
            synchronized (Images.class) {
                out.write(content, offset, length);
                out.flush();
                Images.take("wrote to " + path);
            }
        }

        public void close() throws IOException {
            synchronized (Images.class) {
                super.close();
                Images.take("closed " + path);
            }
        }
    }
}
