//! Path patterns of the configuration: `*` and `?` within one part of a path, `**` across parts.
//!
//! A pattern without wildcards matches the file or everything below the folder it names.

/// Whether `path`, with `/` between its parts, matches `pattern`.
pub(crate) fn matches_path(pattern: &str, path: &str) -> bool {
    let pattern = pattern
        .strip_prefix("./")
        .unwrap_or(pattern)
        .trim_end_matches('/');
    let pattern: Vec<&str> = pattern.split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    parts(&pattern, &path)
}

fn parts(pattern: &[&str], path: &[&str]) -> bool {
    match pattern {
        // What is left of the path lies below the folder that the whole pattern names.
        [] => true,
        ["**", rest @ ..] => (0..=path.len()).any(|skip| parts(rest, &path[skip..])),
        [first, rest @ ..] => path.split_first().is_some_and(|(part, below)| {
            part_matches(first.as_bytes(), part.as_bytes()) && parts(rest, below)
        }),
    }
}

/// Matches one part with the usual two-pointer walk, so that a pattern of many stars stays linear in practice.
fn part_matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut retry = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                retry = Some((p, t));
                p += 1;
            }
            Some(&byte) if byte == b'?' || byte == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match retry {
                Some((star, from)) => {
                    retry = Some((star, from + 1));
                    p = star + 1;
                    t = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::matches_path;

    #[test]
    fn patterns() {
        let cases = [
            ("src/a.rs", "src/a.rs", true),
            ("src", "src/deep/a.rs", true),
            ("src/", "src/a.rs", true),
            ("./src", "src/a.rs", true),
            ("src", "srcs/a.rs", false),
            ("*.rs", "a.rs", true),
            ("*.rs", "src/a.rs", false),
            ("**/*.pb.rs", "crates/x/src/api.pb.rs", true),
            ("**/*.pb.rs", "api.pb.rs", true),
            ("src/**/gen?.rs", "src/a/b/gen1.rs", true),
            ("src/**/gen?.rs", "src/a/b/gen12.rs", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
        ];
        for (pattern, path, expected) in cases {
            assert_eq!(matches_path(pattern, path), expected, "{pattern} on {path}");
        }
    }
}
