CREATE TABLE HIP ("BeginNs" INTEGER, "EndNs" INTEGER, "pid" INTEGER, "tid" INTEGER, "Name" TEXT, "args" TEXT, "Index" INTEGER, "Data" TEXT, "__section" INTEGER, "__lane" INTEGER);
INSERT INTO HIP VALUES (900, 1000, 70001, 70001, 'hipLaunchKernel', '', 1, '', 2, 70001);
CREATE TABLE OPS ("BeginNs" INTEGER, "EndNs" INTEGER, "dev-id" INTEGER, "queue-id" INTEGER, "Name" TEXT, "pid" INTEGER, "tid" INTEGER, "roctx-range" TEXT, "stream-id" INTEGER, "Index" INTEGER, "Data" TEXT, "__section" INTEGER, "__lane" INTEGER);
INSERT INTO OPS VALUES (2000000, 2006000, 0, 0, 'gemm_bf16_64x64x64', 70001, 70001, '', 1, 2, '', 6, 1), (2007000, 2007500, 0, 0, '"<barrier packet>"', 70001, 70001, '', 0, 3, '', 518, 0), (2010000, 2016200, 0, 0, 'gemm_bf16_64x64x64', 70001, 70001, '', 1, 4, '', 6, 1);
CREATE TABLE COPY ("BeginNs" INTEGER, "EndNs" INTEGER, "Name" TEXT, "pid" INTEGER, "tid" INTEGER, "Index" INTEGER, "Data" TEXT, "__section" INTEGER, "__lane" INTEGER);
INSERT INTO COPY VALUES (1000000, 1500000, 'CopyHostToDevice', 70001, 70001, 1, '', 1, 0);
