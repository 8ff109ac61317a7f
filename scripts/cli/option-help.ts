import { Help, type Option } from "commander";

const HELP = new Help();

/** As the library shows an option, without the defaults that say nothing: a switch is off and a list empty. */
export function optionHelp(option: Option): string {
  const { defaultValue } = option;
  const isPlain = defaultValue === false || (Array.isArray(defaultValue) && !option.defaultValueDescription);
  return HELP.optionDescription(
    isPlain ? Object.create(option, { defaultValue: { value: undefined } }) : option,
  );
}
