# Run by attnbench_embed: writes FILES ("|"-separated) into OUTPUT as raw string literals.
string(REPLACE "|" ";" FILES "${FILES}")
set(entries "")
foreach(file ${FILES})
  get_filename_component(stem ${file} NAME_WE)
  get_filename_component(name ${file} NAME)
  string(REGEX REPLACE "\\.[^.]*$" "" stem ${name})  # NAME_WE would cut llama-3.1-8b at its first dot
  file(READ ${file} text)
  string(LENGTH "${text}" size)
  # g++ accepts raw literals of any length; the delimiter keeps quotes and parentheses literal.
  string(APPEND entries "    {\"${stem}\", R\"embedded(${text})embedded\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Generated from text files of the source tree.
#include \"lib/base/embedded_file.h\"

namespace attnbench {
std::span<const EmbeddedFile> ${SYMBOL}() {
  static constexpr EmbeddedFile kFiles[] = {
${entries}  };
  return kFiles;
}
}  // namespace attnbench
")
