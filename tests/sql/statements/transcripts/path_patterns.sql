-- mode: batch
-- rows: in any order
-- Patterns of paths are Java's.
-- file l/alpha.csv
--|1
-- file l/aa.csv
--|2
-- file l/b1.csv
--|3
CREATE TABLE l1 (id INT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp}/l', 'source.path.regex-pattern' = '.*/\p{Alpha}+\.csv');
SELECT * FROM l1;
CREATE TABLE l2 (id INT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp}/l', 'source.path.regex-pattern' = '.*/(?<n>a)\k<n>\.csv');
SELECT * FROM l2;
CREATE TABLE l3 (id INT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp}/l', 'source.path.regex-pattern' = '.*/[a-z&&[^a]]\d++\.csv');
SELECT * FROM l3;
CREATE TABLE l4 (id INT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp}/l', 'source.path.regex-pattern' = 'b1.csv');
SELECT * FROM l4;
CREATE TABLE l5 (id INT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp}/l', 'source.path.regex-pattern' = '(');
SELECT * FROM l5;
