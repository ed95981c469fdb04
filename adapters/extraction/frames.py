"""What goes through the pipes between the pool and its workers. Only the standard library, and little of it."""

import struct

#: A job: mark, length of the pickled head, length of the data, then the limits: seconds, processor seconds, bytes.
JOB = struct.Struct("<4sQQdQQ")
JOB_MARK = b"gkj1"
#: An answer: mark, length of what follows, whether the worker should take no further job.
ANSWER = struct.Struct("<4sQ?")
ANSWER_MARK = b"gka1"
#: Set in the environment of a worker, so that it never makes workers of its own.
IN_WORKER = "GROUNDKIT_EXTRACTION_WORKER"
