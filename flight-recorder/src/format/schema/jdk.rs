//! Events with the JDK's names: its fields first, in its order, ours after them, so that its tools
//! and views work unchanged. The last group is declared for those views' queries and never written.

use super::{DURATION, Field, STACK, START, THREAD, Type, Unit};

const APPLICATION: &[&str] = &["Java Application"];
const RUNTIME: &[&str] = &["Java Virtual Machine", "Runtime"];
const SYSTEM: &[&str] = &["Operating System"];
const RECORDER: &[&str] = &["Flight Recorder"];

/// In declaration order.
pub(super) const TYPES: &[Type] = &[
    Type::event(
        "jdk.VirtualThreadPinned",
        "Virtual Thread Pinned",
        APPLICATION,
        "A virtual thread waited and kept its carrier",
        &[
            START,
            DURATION,
            THREAD,
            STACK,
            Field::text("blockingOperation", "Blocking Operation"),
            Field::text("pinnedReason", "Pinned Reason"),
            Field::thread("carrierThread", "Carrier Thread"),
            Field::text("pinnedAt", "Pinned At"),
            Field::text("blockedAt", "Blocked At"),
            Field::text("lock", "Lock That Pins"),
            Field::text("waitsFor", "Waits For"),
            Field::text("waitsOwner", "Owner Of What It Waits For"),
            Field::text("native", "Native Call"),
            Field::int("depth", "Pins Held"),
            Field::int("stranded", "Stranded Virtual Threads"),
            Field::nanos("strandedTime", "Stranded Time"),
            Field::key("outcome", "jdk.types.Symbol", "Outcome"),
            Field::key("source", "jdk.types.Symbol", "Source"),
            Field::long("spanId", "Span Id"),
            Field::text("span", "Span"),
        ],
    ),
    Type::event(
        "jdk.VirtualThreadStart",
        "Virtual Thread Start",
        APPLICATION,
        "A virtual thread was mounted for the first time",
        &[
            START,
            THREAD,
            STACK,
            Field::long("javaThreadId", "Thread Id"),
            Field::thread("carrierThread", "Carrier Thread"),
        ],
    ),
    Type::event(
        "jdk.VirtualThreadEnd",
        "Virtual Thread End",
        APPLICATION,
        "A virtual thread ended",
        &[
            START,
            THREAD,
            Field::long("javaThreadId", "Thread Id"),
            Field::thread("carrierThread", "Carrier Thread"),
        ],
    ),
    Type::event(
        "jdk.VirtualThreadSubmitFailed",
        "Virtual Thread Submit Failed",
        APPLICATION,
        "A virtual thread was not started",
        &[
            START,
            THREAD,
            STACK,
            Field::long("javaThreadId", "Thread Id"),
            Field::text("exceptionMessage", "Cause"),
            Field::long("live", "Live Virtual Threads"),
            Field::long("cap", "Virtual Threads Allowed"),
        ],
    ),
    Type::event(
        "jdk.JavaMonitorEnter",
        "Monitor Blocked",
        APPLICATION,
        "A monitor was held by another thread",
        &[
            START,
            DURATION,
            THREAD,
            STACK,
            Field::key("monitorClass", "java.lang.Class", "Monitor"),
            Field::thread("previousOwner", "Previous Owner"),
            Field::long("address", "Monitor Address").unit(Unit::Address),
        ],
    )
    .text_in_line(),
    Type::event(
        "jdk.ThreadPark",
        "Thread Park",
        APPLICATION,
        "A virtual thread was unmounted to wait",
        &[
            START,
            DURATION,
            THREAD,
            STACK,
            Field::key("parkedClass", "java.lang.Class", "Operation"),
            Field::long("timeout", "Park Timeout").unit(Unit::NanoSpan),
            Field::long("until", "Park Until").unit(Unit::EpochMillis),
            Field::long("address", "Address of Object Parked").unit(Unit::Address),
        ],
    )
    .text_in_line(),
    Type::event(
        "jdk.JVMInformation",
        "Runtime Information",
        RUNTIME,
        "The recorded program",
        &[
            START,
            Field::text("jvmName", "Runtime Name"),
            Field::text("jvmVersion", "Runtime Version"),
            Field::text("jvmArguments", "Runtime Arguments"),
            Field::text("jvmFlags", "Runtime Settings"),
            Field::text("javaArguments", "Program"),
            Field::long("jvmStartTime", "Recording Start Time").unit(Unit::EpochMillis),
            Field::long("pid", "Process Identifier"),
        ],
    ),
    Type::event(
        "jdk.OSInformation",
        "OS Information",
        SYSTEM,
        "The operating system",
        &[START, Field::text("osVersion", "OS Version")],
    ),
    Type::event(
        "jdk.CPUInformation",
        "CPU Information",
        SYSTEM,
        "The processor",
        &[
            START,
            Field::text("cpu", "Type"),
            Field::text("description", "Description"),
            Field::int("sockets", "Sockets"),
            Field::int("cores", "Cores"),
            Field::int("hwThreads", "Hardware Threads"),
        ],
    ),
    Type::event(
        "jdk.ActiveSetting",
        "Recording Setting",
        RECORDER,
        "A setting that was in force",
        &[
            START,
            Field::long("id", "Event Id"),
            Field::text("name", "Setting Name"),
            Field::text("value", "Setting Value"),
        ],
    ),
    Type::event(
        "jdk.ActiveRecording",
        "Flight Recording",
        RECORDER,
        "The recording this file was dumped from",
        &[
            START,
            Field::long("id", "Id"),
            Field::text("name", "Name"),
            Field::text("destination", "Destination"),
            Field::long("maxAge", "Max Age").unit(Unit::MilliSpan),
            Field::long("maxSize", "Max Size").unit(Unit::Bytes),
            Field::long("recordingStart", "Start Time").unit(Unit::EpochMillis),
            Field::long("recordingDuration", "Recording Duration").unit(Unit::MilliSpan),
        ],
    ),
    Type::event(
        "jdk.Shutdown",
        "Dump",
        RUNTIME,
        "Why this file was written",
        &[START, THREAD, STACK, Field::text("reason", "Reason")],
    ),
    unwritten("jdk.JavaMonitorWait", "Monitor Wait", WAIT),
    unwritten("jdk.ThreadSleep", "Thread Sleep", SLEEP),
    unwritten("jdk.SocketRead", "Socket Read", SOCKET),
    unwritten("jdk.SocketWrite", "Socket Write", SOCKET),
    unwritten("jdk.FileRead", "File Read", FILE),
    unwritten("jdk.FileWrite", "File Write", FILE),
];

const fn unwritten(name: &'static str, label: &'static str, fields: &'static [Field]) -> Type {
    Type::event(
        name,
        label,
        APPLICATION,
        "Declared for the JDK's views; never written",
        fields,
    )
}

const WAIT: &[Field] = &[START, DURATION, THREAD, STACK];
const SLEEP: &[Field] = &[
    START,
    DURATION,
    THREAD,
    STACK,
    Field::long("time", "Sleep Time").unit(Unit::NanoSpan),
];
const SOCKET: &[Field] = &[
    START,
    DURATION,
    THREAD,
    STACK,
    Field::text("host", "Remote Host"),
    Field::text("address", "Remote Address"),
];
const FILE: &[Field] = &[START, DURATION, THREAD, STACK, Field::text("path", "Path")];
