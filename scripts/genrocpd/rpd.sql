CREATE TABLE rocpd_metadata (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, tag varchar(4096) NOT NULL, value varchar(4096) NOT NULL);
INSERT INTO rocpd_metadata (tag, value) VALUES ('schema_version', '2');
CREATE TABLE rocpd_string (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, string varchar(4096) NOT NULL);
INSERT INTO rocpd_string VALUES (1, ''), (2, 'KernelExecution'), (3, 'CopyHostToDevice'), (4, 'Barrier'), (5, 'gemm_bf16_64x64x64'), (6, 'scaled_relu_rows.kd'), (7, 'hipLaunchKernel'), (8, 'epoch 1'), (9, 'UserMarker');
CREATE TABLE rocpd_api (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, pid integer NOT NULL, tid integer NOT NULL, start integer NOT NULL, "end" integer NOT NULL, apiName_id integer NOT NULL, args_id integer NOT NULL);
INSERT INTO rocpd_api VALUES (1, 70001, 70001, 999000, 999900, 7, 1);
CREATE TABLE rocpd_op (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, gpuId integer NOT NULL, queueId integer NOT NULL, sequenceId integer NOT NULL, completionSignal varchar(18) NOT NULL, start integer NOT NULL, "end" integer NOT NULL, description_id integer NOT NULL, opType_id integer NOT NULL);
INSERT INTO rocpd_op VALUES (1, 2, 0, 0, '', 1000000, 1500000, 1, 3), (2, 2, 0, 0, '', 2000000, 2006000, 5, 2), (3, 2, 0, 0, '', 2010000, 2016200, 5, 2), (4, 2, 1, 0, '', 2012000, 2013800, 6, 2), (5, 3, 0, 0, '', 2000000, 2005800, 5, 2), (6, 2, 0, 0, '', 2020000, 2020000, 1, 4), (7, -1, 0, 0, '', 1000000, 3000000, 8, 9);
