// What Flink 2.3 shows of a savepoint that it wrote; test_recorded_savepoint.py has the answers. To record them again:
//   LIB=.../site-packages/pyflink/lib; CP="$LIB/*:flink-state-processor-api-2.3.0.jar:."
//   javac -cp "$CP" RecordedSavepoint.java
//   java --add-opens=java.base/java.util=ALL-UNNAMED --add-opens=java.base/java.lang=ALL-UNNAMED -cp "$CP" \
//     RecordedSavepoint DIRECTORY batch 'CREATE TABLE ...' 'SELECT ...'
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.*;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.state.api.*;
import org.apache.flink.state.api.functions.KeyedStateBootstrapFunction;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.*;

public class RecordedSavepoint {
    public static class Visits extends KeyedStateBootstrapFunction<Long, Long> {
        ValueState<Long> count;
        ListState<String> pages;
        MapState<String, Integer> times;
        ValueState<Long> other;

        public void open(OpenContext context) throws Exception {
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Long.class));
            pages = getRuntimeContext().getListState(new ListStateDescriptor<>("pages", String.class));
            times = getRuntimeContext().getMapState(new MapStateDescriptor<>("by", String.class, Integer.class));
            other = getRuntimeContext().getState(new ValueStateDescriptor<>("other", Long.class));
        }

        public void processElement(Long key, Context context) throws Exception {
            if (key == 1) { count.update(10L); pages.add("a"); pages.add("b"); times.put("k", 1); }
            if (key == 2) { pages.add("c"); }
            if (key == 3) { times.put("z", 3); }
            if (key == 4) { other.update(4L); }
            if (key == 5) { count.update(50L); }
        }
    }

    public static void main(String[] arguments) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(1).setRuntimeMode(RuntimeExecutionMode.BATCH);
        StateBootstrapTransformation<Long> visits = OperatorTransformation.bootstrapWith(env.fromData(1L, 2L, 3L, 4L, 5L))
                .keyBy(key -> key, Types.LONG).transform(new Visits());
        SavepointWriter.newSavepoint(env, new HashMapStateBackend(), 128)
                .withOperator(OperatorIdentifier.forUid("visits"), visits).write(arguments[0]);
        env.execute();
        boolean batch = arguments[1].equals("batch");
        TableEnvironment tables = TableEnvironment.create(
                batch ? EnvironmentSettings.inBatchMode() : EnvironmentSettings.inStreamingMode());
        for (int place = 2; place < arguments.length; place++) tables.executeSql(arguments[place]).print();
    }
}
