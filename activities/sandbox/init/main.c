#include "init.h"
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "keeper")) return keeper(argv[2], argv);
  if (argc == 3 && !strcmp(argv[1], "destroy")) return destroy(argv[2]);
  if (argc > 3 && !strcmp(argv[1], "mapped")) return run_mapped(argc, argv);
  note("usage: sandbox-init keeper FOLDER | destroy FOLDER | mapped ID_BASE GROUP_BASE COMMAND...");
  return 2;
}
