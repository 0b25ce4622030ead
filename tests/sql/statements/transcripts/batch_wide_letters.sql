-- mode: batch
SELECT * FROM (VALUES (1, '😀'), (2, 'a😀b'), (3, '𝒜'), (4, '𠀀'), (5, '日本'), (6, 'ﾊ'), (7, '①'), (8, '🇩🇪'), (9, 'é')) AS v (id, s);
SELECT * FROM (VALUES (1, 'xxxxxxxxxxxxxxxxxxxxxxxxxxxx😀😀'), (2, 'xxxxxxxxxxxxxxxxxxxxxxxxxxx😀😀'), (3, 'xxxxxxxxxxxxxxxxxxxxxxxxxx😀😀'), (4, 'xxxxxxxxxxxxxxxxxxxxxxxxx𝒜𝒜𝒜'), (5, '日日日日日日日日日日日日日日日日日日日日'), (6, 'xxxxxxxxxxxxxxxxxxxxxxxxxx日日')) AS v (id, s);
CREATE TABLE t (id INT COMMENT '😀 日 𝒜') WITH ('connector' = 'datagen');
DESCRIBE t;
