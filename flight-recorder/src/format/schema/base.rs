//! Types that events are made of: primitives, annotations, and the JDK's structures for threads,
//! classes and stacks. Readers look for these by name even when no event uses them.

use super::{Field, Kind, Type};

const VALUE: &[Field] = &[Field::text("value", "")];

const fn primitive(name: &'static str) -> Type {
    Type::new(Kind::Primitive, name, &[])
}

const fn annotation(name: &'static str, fields: &'static [Field]) -> Type {
    Type::new(Kind::Annotation, name, fields)
}

/// In declaration order.
pub(super) const TYPES: &[Type] = &[
    primitive("boolean"),
    primitive("byte"),
    primitive("char"),
    primitive("short"),
    primitive("int"),
    primitive("long"),
    primitive("float"),
    primitive("double"),
    primitive("java.lang.String"),
    annotation("jdk.jfr.Label", VALUE),
    annotation("jdk.jfr.Description", VALUE),
    annotation("jdk.jfr.Category", &[Field::text("value", "").array()]),
    annotation("jdk.jfr.Timestamp", VALUE),
    annotation("jdk.jfr.Timespan", VALUE),
    annotation("jdk.jfr.MemoryAddress", &[]),
    annotation("jdk.jfr.DataAmount", VALUE),
    annotation("jdk.jfr.ContentType", &[]),
    Type::new(
        Kind::Struct,
        "java.lang.Thread",
        &[
            Field::text("osName", "OS Thread Name"),
            Field::long("osThreadId", "OS Thread Id"),
            Field::text("javaName", "Thread Name"),
            Field::long("javaThreadId", "Thread Id"),
            Field::new("virtual", "boolean", "Virtual Thread"),
        ],
    ),
    Type::new(
        Kind::Struct,
        "java.lang.Class",
        &[
            Field::key("classLoader", "jdk.types.ClassLoader", "Class Loader"),
            Field::key("name", "jdk.types.Symbol", "Name"),
            Field::key("package", "jdk.types.Package", "Package"),
            Field::int("modifiers", "Access Modifiers"),
            Field::new("hidden", "boolean", "Hidden"),
        ],
    ),
    Type::new(
        Kind::Struct,
        "jdk.types.ClassLoader",
        &[
            Field::key("type", "java.lang.Class", "Type"),
            Field::key("name", "jdk.types.Symbol", "Name"),
        ],
    ),
    Type::new(
        Kind::Struct,
        "jdk.types.Package",
        &[Field::key("name", "jdk.types.Symbol", "Name")],
    ),
    Type::new(
        Kind::Simple,
        "jdk.types.Symbol",
        &[Field::text("string", "String")],
    ),
    Type::new(
        Kind::Struct,
        "jdk.types.Method",
        &[
            Field::key("type", "java.lang.Class", "Type"),
            Field::key("name", "jdk.types.Symbol", "Name"),
            Field::key("descriptor", "jdk.types.Symbol", "Descriptor"),
            Field::int("modifiers", "Access Modifiers"),
            Field::new("hidden", "boolean", "Hidden"),
        ],
    ),
    Type::new(
        Kind::Simple,
        "jdk.types.FrameType",
        &[Field::text("description", "Description")],
    ),
    Type::new(
        Kind::Simple,
        "jdk.types.ThreadState",
        &[Field::text("name", "Name")],
    ),
    Type::new(
        Kind::Struct,
        "jdk.types.StackFrame",
        &[
            Field::key("method", "jdk.types.Method", "Method"),
            Field::int("lineNumber", "Line Number"),
            Field::int("bytecodeIndex", "Bytecode Index"),
            Field::key("type", "jdk.types.FrameType", "Frame Type"),
        ],
    ),
    Type::new(
        Kind::Struct,
        "jdk.types.StackTrace",
        &[
            Field::new("truncated", "boolean", "Truncated"),
            Field::new("frames", "jdk.types.StackFrame", "Stack Frames").array(),
        ],
    ),
];
