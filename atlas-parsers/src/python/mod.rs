//! Runners of Python tests.

pub(crate) mod django;
pub(crate) mod pytest;
pub(crate) mod stestr;
pub(crate) mod sympy;
pub(crate) mod trial;
pub(crate) mod unittest;

/// The module of a class's whole name. Class names begin in upper case, and where none does, the last part
/// is the class.
fn module_of(class: &str) -> &str {
    let class_like = |part: &str| {
        let first = part.trim_start_matches('_').chars().next();
        first.is_some_and(char::is_uppercase) || part == "<locals>"
    };
    let mut module = class.rsplit_once('.').map_or(class, |(module, _)| module);
    while let Some((outer, last)) = module.rsplit_once('.') {
        if !class_like(last) {
            break;
        }
        module = outer;
    }
    module
}
