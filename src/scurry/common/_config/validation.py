"""Check configuration keys: read the values of those that scurry has, warn about those without effect, find typos."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping

from scurry.common._config.fault_tolerance import CHECKPOINT_OPTIONS, RESTART_OPTIONS, STATE_OPTIONS
from scurry.common._config.python import PYTHON_OPTIONS, parse_list_value, warn_about_jars
from scurry.common._config.replay import REPLAY_OPTIONS
from scurry.common._config.rest import METRICS_OPTIONS, REST_OPTIONS
from scurry.common._config.scheduler import ADAPTIVE_BATCH_OPTIONS, SCHEDULER_OPTIONS
from scurry.common._config.tables import EXCLUDED_RULES, REFRESHING_SESSION
from scurry.common._config.tuning import TUNING_OPTIONS
from scurry.common.config_options import OPTIONS, ConfigOption
from scurry.common.configuration import Configuration
from scurry.errors import ConfigError, UnknownConfigError
from scurry.errors.suggestions import similar_name
from scurry.errors.user_frames import user_stack_level


def known_options() -> tuple[ConfigOption[object], ...]:
    """Return every option that scurry reads."""
    return (
        *OPTIONS,
        *ADAPTIVE_BATCH_OPTIONS,
        *CHECKPOINT_OPTIONS,
        *METRICS_OPTIONS,
        *PYTHON_OPTIONS,
        *REPLAY_OPTIONS,
        *RESTART_OPTIONS,
        *REST_OPTIONS,
        *SCHEDULER_OPTIONS,
        *STATE_OPTIONS,
        *TUNING_OPTIONS,
    )


_BY_KEY = {key: option for option in known_options() for key in (option.key, *option.aliases)}

# Keys for the transfer between Python and Java, which scurry does not need.
_PYTHON_KEYS = frozenset(
    f"python.{name}"
    for name in (
        "execution-mode",
        "fn-execution.arrow.batch.size",
        "fn-execution.bundle.size",
        "fn-execution.bundle.time",
        "fn-execution.memory.managed",
        "fn-execution.streaming.enabled",
        "job-options",
        "loopback-server.address",
        "map-state.iterate-response-batch-size",
        "map-state.read-cache-size",
        "map-state.write-cache-size",
        "metric.enabled",
        "operator-chaining.enabled",
        "profile.enabled",
        "state.cache-size",
        "systemenv.enabled",
    )
)

# Keys that tune Flink itself and do not affect results.
_HARMLESS_PREFIXES = (
    "$internal.",
    "akka.",
    "application-result-store.",
    "blob.",
    "classloader.",
    "cleanup-strategy",
    "client.",
    "cluster.",
    "compiler.",
    "completed-application-store.",
    "dstl.",
    "env.",
    "execution.allow-client-job-",
    "execution.async-state.",
    "execution.attached",
    "execution.batch-",
    "execution.batch.",
    "execution.checkpointing.",
    "execution.program-config.",
    "execution.shutdown-on-",
    "execution.sort-",
    "execution.sorted-inputs.",
    "execution.submit-failed-job-",
    "execution.terminate-application-",
    "external-resource",
    "heartbeat.",
    "historyserver.",
    "internal.",
    "io.",
    "jmx.",
    "job-event.",
    "job-manager.",
    "job-result-store.",
    "jobmanager.",
    "jobstore.",
    "library-cache-manager.",
    "local-recovery",
    "local.number-",
    "minicluster.",
    "pekko.",
    "pipeline.force-kryo-avro",
    "pipeline.operator-chaining.",
    "pipeline.serialization-config",
    "pipeline.sources.",
    "pipeline.vertex-",
    "plugin.",
    "process.",
    "python.internal.",
    "query.",
    "queryable-state.",
    "resourcemanager.",
    "rest.",
    "shuffle-service-factory.",
    "sink.committer.",
    "slot.",
    "slotmanager.",
    "slow-task-detector.",
    "source.reader.",
    "sql-client.",
    "sql-gateway.",
    "state.backend",
    "state.changelog.",
    "state.checkpoint",
    "state.latency-track.",
    "state.size-track.",
    "state.storage.",
    "table.",
    "task.",
    "taskmanager.",
    "timerservice.",
    "user.artifacts.",
    "web.",
    "zookeeper.",
)

# Those of other places, such as queries, and of scurry itself.
_OF_OTHERS = ("$internal.", "internal.", "python.internal.", "spark.", "sql-client.", "sql-gateway.", "table.")

# Keys of Flink that differ from those that scurry reads by few letters.
_NOT_MISSPELT = frozenset(
    {"jobmanager.adaptive-scheduler.scaling-interval.max", "state.backend.rocksdb.memory.fixed-per-tm"}
)

# Keys that queries read themselves.
_OF_QUERIES = frozenset({EXCLUDED_RULES.key, REFRESHING_SESSION.key})

_JARS = ("pipeline.jars", "pipeline.classpaths")

# Keys of Flink without effect, which a user would miss, and what to do instead.
_WITHOUT_EFFECT = {
    "events.": "metrics are reported by Spark; configure spark.metrics.conf.*",
    "execution.job-listeners": "listeners are Java; ask the JobClient that execute_async returns",
    "execution.job-status-changed-listeners": "listeners are Java; ask the JobClient that execute_async returns",
    "execution.savepoint-restore-mode": "scurry never deletes a savepoint, as with NO_CLAIM",
    "execution.state-recovery.": "no savepoint is deleted (NO_CLAIM), and other settings of the start are not read",
    "execution.target": "set scurry.runner (spark or local) and spark.master",
    "flink.hadoop.": "set spark.hadoop.*",
    "flink.yarn.": "set spark.master and spark.yarn.*",
    "fs.": "file systems are Spark's: set spark.hadoop.fs.*",
    "high-availability": "a failed driver is restarted by Spark's cluster manager; set execution.checkpointing.dir",
    "kubernetes.": "set spark.master and spark.kubernetes.*",
    "metrics.": "metrics have Flink's names and default scopes; set metrics.reporters and metrics.reporter.NAME.*",
    "pipeline.cached-files": "set spark.files",
    "pipeline.jobvertex-parallelism-overrides": "set the parallelism in the program or with parallelism.default",
    "pipeline.watermark-alignment.": "alignment is set with WatermarkStrategy.with_watermark_alignment",
    "recovery.": "a failed driver is restarted by Spark's cluster manager; set execution.checkpointing.dir",
    "s3.": "file systems are Spark's: set spark.hadoop.fs.s3a.*",
    "security.": "set spark.kerberos.* and spark.authenticate.*",
    "traces.": "metrics are reported by Spark; configure spark.metrics.conf.*",
    "yarn.": "set spark.master and spark.yarn.*",
}


#: Settings of Spark that have one value here, with the reason.
_FIXED = {
    "spark.sql.streaming.stateStore.checkpointFormatVersion": (
        "1",
        "with others, Spark alone knows the files of a micro-batch that was killed before its commit, and a job could "
        "not go on from them at another parallelism",
    ),
}


def validate(configuration: Configuration | Mapping[str, str]) -> None:
    """Check that values are readable and no key is a misspelt one.

    Other keys never stop a program, as in Flink: those that only tune Flink itself pass silently, and one warning names
    those whose effect a user would miss, and unknown ones.

    Raises:
        UnknownConfigError: The key is nearly one that scurry reads, or begins with `scurry.` and is none of scurry's.
        ConfigError: A value cannot be read as its option's type.
    """
    values = configuration.to_dict() if isinstance(configuration, Configuration) else configuration
    ignored, jars, unknown = [], [], []
    for key, value in values.items():
        if option := _BY_KEY.get(key):
            option.parse(value)
        elif key == "spark.master":
            check_master(value)
        elif key in _FIXED:
            _check_fixed(key, value)
        elif key.startswith("metrics.reporter."):
            continue  # the reporter's factory checks its settings
        elif reason := next((_WITHOUT_EFFECT[prefix] for prefix in _WITHOUT_EFFECT if key.startswith(prefix)), None):
            ignored.append(f"{key} ({reason})")
        elif key in _JARS:
            jars += parse_list_value(value)
        elif key in _OF_QUERIES:
            continue
        elif key.startswith("scurry.") or _misspelt(key):
            unknown.append(_unknown(key))
        elif not _harmless(key):
            closest = _closest(key, cutoff=0.7)
            meant = f"; did you mean {closest}?" if closest is not None else ""
            ignored.append(f"{key} (neither Flink nor scurry has it{meant})")
    if unknown:
        raise UnknownConfigError("\n".join(unknown))
    if ignored:
        warnings.warn(f"configuration without effect: {'; '.join(ignored)}", stacklevel=user_stack_level())
    warn_about_jars(jars)


def without_effect(values: Mapping[str, str]) -> list[str]:
    """Return the keys of a job that are accepted without effect, each with the reason or the replacement.

    Keys with the default value are left out, and those about which `validate` warns.

    Args:
        values: The configuration of the job.
    """
    found, flinks_own = [], []
    for key, value in values.items():
        option = _BY_KEY.get(key)
        if option is None:
            if _harmless(key) and not key.startswith((*_OF_OTHERS, *_WITHOUT_EFFECT)):
                flinks_own.append(key)
        elif option.instead and (option.parse(value) or None) != (option.default or None):
            found.append(f"{key} ({option.instead})")
    if flinks_own:
        found.append(f"{', '.join(flinks_own)} (tuning of Flink's own processes)")
    return found


def _check_fixed(key: str, value: str) -> None:
    fixed, reason = _FIXED[key]
    if value.strip() != fixed:
        raise ConfigError(f"{key} = {value!r} must be {fixed}: {reason}; leave it out")


def _harmless(key: str) -> bool:
    return key in _PYTHON_KEYS or key.startswith(("spark.", *_HARMLESS_PREFIXES))


def _closest(key: str, cutoff: float) -> str | None:
    return similar_name(key, [*_BY_KEY, *_PYTHON_KEYS], cutoff)


def _misspelt(key: str) -> bool:
    """Return whether a key is nearly one that scurry reads."""
    if key.startswith("spark.") or key in _NOT_MISSPELT:
        return False
    return _closest(key, cutoff=0.95 if _harmless(key) else 0.9) in _BY_KEY


def _unknown(key: str) -> str:
    closest = _closest(key, cutoff=0.6)
    hint = f"did you mean {closest}?" if closest else "see docs/reference/configuration.md for the keys there are"
    return f"configuration {key} is unknown: {hint}"


_FORMS = re.compile(
    r"local(\[(\*|[1-9]\d*)(\s*,\s*\d+)?\])?|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]"
    r"|spark://[^\s/,:]+:\d+(,[^\s/,:]+:\d+)*|spark://\[[0-9a-fA-F:]+\]:\d+|yarn|k8s://\S+"
)


def check_master(url: str) -> None:
    """Check that a text is the URL of a Spark master.

    Raises:
        ConfigError: It is not; the message lists the valid forms.
    """
    if not _FORMS.fullmatch(url.strip()):
        raise ConfigError(
            f"spark.master = {url!r} is no Spark master: use local[N] or local[*] for this machine, spark://HOST:PORT, "
            "yarn, or k8s://https://HOST:PORT"
        )
