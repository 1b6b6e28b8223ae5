create database statehouse_access;
create database statehouse_workspaces;
create database statehouse_state;
