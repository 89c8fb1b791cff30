/** The value of a variable's option `All`. */
export const ALL = '$__all';

/** `$name`, `${name}`, `${name:format}`, `[[name]]`, `[[name:format]]`. */
export const VARIABLE_REFERENCE = /\$(?:(\w+)|\{(\w+)(?::(\w+))?\})|\[\[(\w+)(?::(\w+))?\]\]/g;
